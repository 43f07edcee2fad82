#!/bin/sh
# Holds the boot of a LAVA job to a budget: LAVA stamps each line of the console, and bootlap reads
# that log. Run it where lavacli is set up, after the job was submitted.
#
# usage: boot.sh JOB BUDGET READY      such as: boot.sh 4711 budget.toml 'login:'
set -eu
job=${1:?usage: boot.sh JOB BUDGET READY}
budget=${2:?usage: boot.sh JOB BUDGET READY}
ready=${3:?usage: boot.sh JOB BUDGET READY}
lavacli jobs wait "$job"
lavacli jobs logs --raw "$job" >"lava-$job.yaml"
mkdir -p bootlap-report
bootlap check "lava-$job.yaml" --ready "$ready" --budget "$budget" --junit bootlap-report/boot.xml \
	-o bootlap-report/boot.html -o bootlap-report/boot.svg -o bootlap-report/verdict.md
