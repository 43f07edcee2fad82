#!/bin/busybox sh
# Mounts what is on the first disk. Without /changes it writes all files as one archive of tar to
# the second disk; with them it makes them, and looks whether they are there. What came of it
# stands on the console; the host believes nothing but "bootlap: done".
export PATH=/bin
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
end() {
	sync
	echo "bootlap: $1"
	poweroff -f
	exec sleep 1000000
}
while read -r module; do
	insmod "/modules/$module" || end "cannot load $module"
done </modules/order
read -r kind </kind

open() {
	mount -t "$kind" -o "$1" /dev/vda /root ||
		end "the kernel cannot mount it as $kind; check a copy with the tools of $kind"
	[ "$kind" = btrfs ] && [ ! -d /root/etc ] || return 0
	# The root is a subvolume, as installers call it.
	for name in @ @rootfs root; do
		[ -d "/root/$name/etc" ] || continue
		umount /root
		mount -t btrfs -o "$1,subvol=$name" /dev/vda /root || end "cannot mount $name"
		return 0
	done
}

if [ ! -d /changes ]; then
	open ro
	cd /root || end "nothing is mounted"
	# What is no part of a system is covered up, and all of a disk that has none.
	mkdir /none
	: >/empty
	find . -xdev -type f -size +524288k | while read -r file; do
		mount --bind /empty "$file"
	done
	for folder in home srv tmp var/cache var/log var/tmp var/lib/docker var/lib/containers \
		var/lib/flatpak var/lib/libvirt var/lib/machines; do
		if [ -d $folder ] && [ ! -L $folder ]; then mount --bind /none $folder; fi
	done
	for sign in etc usr boot lib sbin/init init vmlinu* bzImage* Image* grub* loader EFI efi \
		extlinux syslinux; do
		[ ! -e "$sign" ] || there=1
	done
	[ "$there" ] || cd /none || end "no folder"
	tar -cf /dev/vdb . 2>/errors || end "cannot read all: $(head -n 1 /errors)"
	end "done"
fi

open rw
cd /changes || end "no changes"
for change in *; do
	read -r path <"$change/path"
	path=/root$path
	if [ -d "$path" ] && [ ! -L "$path" ]; then end "${path#/root} is a folder"; fi
	[ -e "$change/nothing" ] || mkdir -p "${path%/*}"
	if [ -e "$change/file" ]; then
		# What is written over keeps owner, mode and attributes.
		[ ! -L "$path" ] || rm "$path"
		new=
		if [ ! -e "$path" ]; then
			new=1
		elif [ "$(stat -c %h "$path")" != 1 ]; then
			# Its other names stay what they are.
			cp -p "$path" "$path.bootlap" && mv "$path.bootlap" "$path"
		fi
		cat "$change/file" >"$path" || end "cannot write ${path#/root}"
		[ -z "$new" ] || chmod "$(cat "$change/mode")" "$path"
		touch -d @1577836800 "$path"
	else
		rm -f "$path"
		[ ! -e "$change/link" ] || ln -s "$(cat "$change/link")" "$path" ||
			end "cannot write ${path#/root}"
	fi
done
umount /root || end "cannot unmount it"
open ro
for change in *; do
	read -r path <"$change/path"
	path=/root$path
	if [ -e "$change/file" ]; then
		[ ! -L "$path" ] && cmp -s "$change/file" "$path"
	elif [ -e "$change/link" ]; then
		[ "$(readlink "$path")" = "$(cat "$change/link")" ]
	else
		[ ! -e "$path" ] && [ ! -L "$path" ]
	fi || end "${path#/root} is not what it was to be"
done
umount /root
end "done"
