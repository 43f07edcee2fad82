include $(sort $(wildcard $(BR2_EXTERNAL_BOOTLAP_PATH)/package/*/*.mk))
