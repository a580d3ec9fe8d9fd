"""`python -m jobs dispatcher`: a word goes in, the program it names runs until it is told to stop."""

import argparse

from jobs.startup import start


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m jobs", description="Background programs of the service.")
    parser.add_argument(
        "program", choices=["dispatcher", "inbox"], help="dispatcher: finds due rows; inbox: takes forwarded mail"
    )
    given = parser.parse_args()
    start()
    if given.program == "inbox":
        from jobs import smtp_listener

        smtp_listener.run()
    else:
        from jobs import dispatcher

        dispatcher.run()


if __name__ == "__main__":
    main()
