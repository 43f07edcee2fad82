# bootlap_mark NAME says in the kernel's log that something has been reached:
# `bootlap: NAME`, which bootlap shows as a mark. For scripts that want no
# dependency: copy these lines. Needs nothing but a shell, and starts no process.
bootlap_mark() {
	{ echo "<5>bootlap: $*" >/dev/kmsg; } 2>/dev/null || :
}
