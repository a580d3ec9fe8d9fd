"""Does a search over the tools find the right one for what a person says?"""
