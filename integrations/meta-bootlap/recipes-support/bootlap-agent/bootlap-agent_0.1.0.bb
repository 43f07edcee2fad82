SUMMARY = "Measures and speeds up a boot from inside the device"
DESCRIPTION = "bootlap-agent notes what happens in a boot, reads ahead what a boot \
reads, starts init scripts at the same time and shows an early picture: one static \
program. bootlap reads on the host what it writes."
SECTION = "base"
LICENSE = "MIT | Apache-2.0"
LIC_FILES_CHKSUM = " \
    file://${BOOTLAP_SOURCE}/LICENSE-MIT;md5=b8328b2a61cfd78e22a6106782cf4e18 \
    file://${BOOTLAP_SOURCE}/LICENSE-APACHE;md5=22a53954e4e0ec258dfce4391e905dac \
"

inherit externalsrc systemd update-rc.d

EXTERNALSRC = "${BOOTLAP_SOURCE}/agent"
EXTERNALSRC_BUILD = "${WORKDIR}/build"

# preload: record and replay. layout needs its packs. splash is for little-endian machines.
PACKAGECONFIG ??= "preload rc"
PACKAGECONFIG[preload] = ""
PACKAGECONFIG[layout] = ""
PACKAGECONFIG[rc] = ""
PACKAGECONFIG[resume] = ""
PACKAGECONFIG[splash] = ""

# Warnings are for those who change it.
EXTRA_OEMAKE = "-C ${S} ARCH=target OUT=${B} WARNINGS= \
    'CC=${CC}' 'CFLAGS=${CFLAGS} -Os' 'LDFLAGS=${LDFLAGS}' \
    'WITH=${@bb.utils.filter('PACKAGECONFIG', 'preload layout rc resume splash', d)}'"

do_compile() {
    oe_runmake
}

do_install() {
    oe_runmake install DESTDIR=${D} PREFIX=${prefix} SBINDIR=${sbindir} \
        INCLUDEDIR=${includedir} DATADIR=${datadir} MANDIR=${mandir}
    for service in record replay collect; do
        sed 's,/usr/sbin/,${sbindir}/,' \
            ${BOOTLAP_SOURCE}/integrations/systemd/bootlap-$service.service >${B}/service
        install -D -m 0644 ${B}/service \
            ${D}${systemd_system_unitdir}/bootlap-$service.service
    done
    install -D -m 0755 ${BOOTLAP_SOURCE}/integrations/init.d/bootlap-agent \
        ${D}${sysconfdir}/init.d/bootlap-agent
}

# An image that has the program alone starts nothing. `-at-boot` records the first boot
# and replays it in the others; `-collect` writes an archive of each.
PACKAGES =+ "${PN}-at-boot ${PN}-collect"
FILES:${PN} += "${datadir}/bootlap"
FILES:${PN}-at-boot = " \
    ${systemd_system_unitdir}/bootlap-record.service \
    ${systemd_system_unitdir}/bootlap-replay.service \
    ${sysconfdir}/init.d/bootlap-agent \
"
FILES:${PN}-collect = "${systemd_system_unitdir}/bootlap-collect.service"
RDEPENDS:${PN}-at-boot = "${PN}"
RDEPENDS:${PN}-collect = "${PN}"

SYSTEMD_PACKAGES = "${PN}-at-boot ${PN}-collect"
SYSTEMD_SERVICE:${PN}-at-boot = "bootlap-record.service bootlap-replay.service"
SYSTEMD_SERVICE:${PN}-collect = "bootlap-collect.service"
INITSCRIPT_PACKAGES = "${PN}-at-boot"
INITSCRIPT_NAME:${PN}-at-boot = "bootlap-agent"
INITSCRIPT_PARAMS:${PN}-at-boot = "start 04 S ."

# The program is linked without symbols.
INSANE_SKIP:${PN} += "already-stripped"
