"""Pure thinking: functions over plain data, without input, output, frameworks or a clock.

May import the standard library, the ground floor's errors and a parser of calendar entries only. One module per noun;
time, rates and reference rows come in as arguments.
"""
