"""Facts about time: ages, dates of events, weekdays, spans of years, hours and journeys."""
