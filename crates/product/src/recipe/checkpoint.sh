#!/bin/sh
# Made by bootlap: has a service go on from a checkpoint of it (CRIU), or starts it.
#   checkpoint start UNIT COMMAND...   as the service's ExecStart=, of Type=forking
#   checkpoint make UNIT               once it has done what takes long
do=$1 unit=$2
shift 2
kept=/var/lib/bootlap/checkpoints/$unit
pid=/run/bootlap-checkpoint.$unit.pid
log=/run/bootlap-checkpoint.$unit.log
case $do in
start)
	# What a checkpoint is of: the kernel, and the files that the command names.
	read -r now </proc/sys/kernel/osrelease
	now="$now $(stat -L -c '%n %i %s %Y' -- "$@" 2>/dev/null)"
	if [ -f "$kept/of" ]; then
		if [ "$(cat "$kept/of")" = "$now" ]; then
			criu restore -D "$kept" -d --pidfile "$pid" --manage-cgroups=ignore -o "$log" && exit
		fi
		# It does not fit, and the next one is made of what is started now.
		rm -f "$kept/of"
	fi
	# A process goes on with the number that it had, which nobody may have by then.
	echo 20000 >/proc/sys/kernel/ns_last_pid
	setsid "$@" </dev/null >/dev/null 2>&1 &
	echo $! >"$pid"
	echo "$now" >"$pid.of"
	;;
make)
	[ ! -f "$kept/of" ] || exit 0
	rm -rf "$kept"
	mkdir -p "$kept"
	read -r process <"$pid"
	if ! criu dump -t "$process" -D "$kept" -R --manage-cgroups=ignore -o "$log"; then
		grep -i error "$log"
		exit 1
	fi
	# This comes last: a power cut before it leaves no checkpoint.
	sync
	cat "$pid.of" >"$kept/new"
	sync
	mv "$kept/new" "$kept/of"
	sync
	;;
esac
