"""The commands of `idealrank theory`, a file each."""
