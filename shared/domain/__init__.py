"""Pure rules of award travel: functions over plain data, without input, output, frameworks or a clock.

It may import the standard library, `shared.errors` and the calendar parser only. One module per noun; today's date,
exchange rates and reference rows are passed as arguments.
"""
