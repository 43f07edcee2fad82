################################################################################
#
# bootlap-agent
#
################################################################################

BOOTLAP_AGENT_VERSION = 0.1.0
BOOTLAP_AGENT_TOP = $(BR2_EXTERNAL_BOOTLAP_PATH)/../..
BOOTLAP_AGENT_SITE = $(BOOTLAP_AGENT_TOP)/agent
BOOTLAP_AGENT_SITE_METHOD = local
BOOTLAP_AGENT_LICENSE = MIT or Apache-2.0
BOOTLAP_AGENT_LICENSE_FILES = LICENSE-MIT LICENSE-APACHE
# For the header.
BOOTLAP_AGENT_INSTALL_STAGING = YES
# What was built by hand is of another compiler.
BOOTLAP_AGENT_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = --exclude=/build

define BOOTLAP_AGENT_COPY_LICENSES
	cp $(addprefix $(BOOTLAP_AGENT_TOP)/,$(BOOTLAP_AGENT_LICENSE_FILES)) $(@D)/
endef
BOOTLAP_AGENT_POST_RSYNC_HOOKS += BOOTLAP_AGENT_COPY_LICENSES

BOOTLAP_AGENT_PARTS = \
	$(if $(BR2_PACKAGE_BOOTLAP_AGENT_PRELOAD),preload) \
	$(if $(BR2_PACKAGE_BOOTLAP_AGENT_LAYOUT),layout) \
	$(if $(BR2_PACKAGE_BOOTLAP_AGENT_RC),rc) \
	$(if $(BR2_PACKAGE_BOOTLAP_AGENT_RESUME),resume) \
	$(if $(BR2_PACKAGE_BOOTLAP_AGENT_SPLASH),splash)

# Warnings are for those who change it.
BOOTLAP_AGENT_MAKE = \
	$(TARGET_MAKE_ENV) $(MAKE) $(TARGET_CONFIGURE_OPTS) -C $(@D) \
	ARCH=target WITH="$(strip $(BOOTLAP_AGENT_PARTS))" WARNINGS= PREFIX=/usr

define BOOTLAP_AGENT_BUILD_CMDS
	$(BOOTLAP_AGENT_MAKE)
endef

define BOOTLAP_AGENT_INSTALL_STAGING_CMDS
	$(BOOTLAP_AGENT_MAKE) DESTDIR=$(STAGING_DIR) install
endef

define BOOTLAP_AGENT_INSTALL_TARGET_CMDS
	$(BOOTLAP_AGENT_MAKE) DESTDIR=$(TARGET_DIR) install
endef

BOOTLAP_AGENT_SERVICES = \
	$(if $(BR2_PACKAGE_BOOTLAP_AGENT_AT_BOOT_PRELOAD),record replay) \
	$(if $(BR2_PACKAGE_BOOTLAP_AGENT_AT_BOOT_COLLECT),collect)

define BOOTLAP_AGENT_INSTALL_INIT_SYSTEMD
	$(foreach service,$(BOOTLAP_AGENT_SERVICES), \
		$(INSTALL) -D -m 0644 $(BOOTLAP_AGENT_TOP)/integrations/systemd/bootlap-$(service).service \
			$(TARGET_DIR)/usr/lib/systemd/system/bootlap-$(service).service
	)
endef

ifneq ($(strip $(BOOTLAP_AGENT_SERVICES)),)
define BOOTLAP_AGENT_INSTALL_INIT_SYSV
	$(INSTALL) -D -m 0755 $(BOOTLAP_AGENT_TOP)/integrations/init.d/bootlap-agent \
		$(TARGET_DIR)/etc/init.d/S00bootlap-agent
	mkdir -p $(TARGET_DIR)/etc/default
	echo 'AT_BOOT="$(strip $(BOOTLAP_AGENT_SERVICES))"' >$(TARGET_DIR)/etc/default/bootlap-agent
endef
endif

$(eval $(generic-package))
