"""The commands of `idealrank online`, a file each."""
