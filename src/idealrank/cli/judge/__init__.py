"""The commands of `idealrank judge`, a file each."""
