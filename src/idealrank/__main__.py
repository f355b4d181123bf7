"""`python -m idealrank` is the command `idealrank`."""

from idealrank.app.cli import main

if __name__ == "__main__":
    main()
