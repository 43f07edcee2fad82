# As much of Buildroot's infrastructure for packages as an external tree meets, for
# the tests: no registry has Buildroot itself. The steps and the names of variables are
# those of its manual.
#
# usage: make -f buildroot.mk TREE=… WORK=… CROSS=… CONFIG=… INIT=SYSV|SYSTEMD

include $(CONFIG)
BR2_EXTERNAL_BOOTLAP_PATH = $(TREE)
TARGET_DIR = $(WORK)/target
STAGING_DIR = $(WORK)/staging
TARGET_MAKE_ENV = PATH="$(WORK)/host/bin:$(PATH)"
TARGET_CFLAGS = -D_LARGEFILE_SOURCE -D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -Os -g0
TARGET_CONFIGURE_OPTS = AR="$(CROSS)ar" LD="$(CROSS)ld" CC="$(CROSS)gcc" \
	CFLAGS="$(TARGET_CFLAGS)" LDFLAGS="" STRIP="$(CROSS)strip"
INSTALL = install

define inner-package
all: $(1)
$(1):
	mkdir -p $$(@D) $(TARGET_DIR) $(STAGING_DIR)
	rsync -a --exclude .git $$($(2)_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS) $$($(2)_SITE)/ $$(@D)/
	$$(foreach hook,$$($(2)_POST_RSYNC_HOOKS),$$(call $$(hook))$$(newline))
	$$($(2)_BUILD_CMDS)
	$$($(2)_INSTALL_STAGING_CMDS)
	$$($(2)_INSTALL_TARGET_CMDS)
	$$($(2)_INSTALL_INIT_$$(INIT))
	cd $$(@D) && ls $$($(2)_LICENSE_FILES)
endef
define newline


endef
# The folder that a package's file lies in has its name.
package = $(lastword $(subst /, ,$(dir $(lastword $(MAKEFILE_LIST)))))
generic-package = $(call inner-package,$(WORK)/build/$(package)/.stamp,$(subst -,_,$(shell echo $(package) | tr a-z A-Z)))
all:
include $(TREE)/external.mk
