"""Reports of `idealrank judge`, a file each."""
