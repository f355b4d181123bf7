"""The commands of `idealrank judge`."""
