"""Pure thinking: functions over plain data, without input, output, frameworks or a clock.

May import the standard library and the ground floor's errors only. One module per noun; time, rates and
reference rows come in as arguments.
"""
