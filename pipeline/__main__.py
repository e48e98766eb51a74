"""``python -m pipeline`` and ``spark-submit pipeline/__main__.py``."""

from pipeline.command_line import main

if __name__ == "__main__":
    main()
