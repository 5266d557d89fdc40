"""One file a figure of docs/figures.md, each printing a ratio measured in one run.

Beside them stand programs that print no ratio and fail where a promise is broken: `crashes` (kill -9 at every step),
`events` (ten thousand events among faults), `bus` (a million publishes), `room_soak` (four hours of a household),
`noises` (half an hour of them), `year` (365 days of one), `questions` (sixty, by four voices, into a live card, quiet
and over music).
"""
