# What all scripts use.

# A value of the configuration.
get() {
	grep "^$1=" /etc/config/router | cut -d= -f2
}

log() {
	logger -t "$1" "$2" 2>/dev/null
}

# Starts a daemon unless it runs.
daemon() {
	name=$(basename "$1")
	if [ -f /run/$name.pid ] && kill -0 "$(cat /run/$name.pid)" 2>/dev/null; then
		return 0
	fi
	start-stop-daemon -S -q -b -m -p /run/$name.pid -x "$@"
}
