"""`python -m idealrank` is the command `idealrank`."""

from idealrank.cli.main import main

if __name__ == "__main__":
    main()
