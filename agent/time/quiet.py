"""Quiet hours: when nothing is said that nobody asked for."""

from datetime import UTC, datetime, time, timedelta, tzinfo

from msgspec import Struct


class QuietHours(Struct, frozen=True):
    """From one time of day to another, over midnight where the second is not later; in the household's zone."""

    begin: time
    end: time
    zone: tzinfo

    def until(self, moment: datetime) -> datetime | None:
        """Return when the quiet around an aware moment ends (UTC), None when there is none at it."""
        local = moment.astimezone(self.zone)
        for days in (-1, 0):
            day = local.date() + timedelta(days=days)
            begin = datetime.combine(day, self.begin, self.zone).astimezone(UTC)
            last = day + timedelta(days=1) if self.end <= self.begin else day
            end = datetime.combine(last, self.end, self.zone).astimezone(UTC)
            if begin <= moment < end:
                return end
        return None

    def next(self, moment: datetime) -> datetime:
        """Return when the next quiet begins after an aware moment (UTC)."""
        today = moment.astimezone(self.zone).date()
        days = (datetime.combine(today + timedelta(days=n), self.begin, self.zone).astimezone(UTC) for n in range(3))
        return next(begin for begin in days if begin > moment)


def quiet_hours(text: str, zone: tzinfo) -> QuietHours | None:
    """Return the hours in a text such as `22:00-07:00`, None for "". Raises ValueError for anything else."""
    if not text.strip():
        return None
    begin, _, end = text.partition("-")
    try:
        hours = QuietHours(time.fromisoformat(begin.strip()), time.fromisoformat(end.strip()), zone)
    except ValueError as error:
        raise ValueError(f'quiet hours are written as "22:00-07:00", not {text!r}') from error
    if hours.begin == hours.end or hours.begin.tzinfo or hours.end.tzinfo:
        raise ValueError(f'quiet hours begin and end at two local times of day, as "22:00-07:00", not {text!r}')
    return hours
