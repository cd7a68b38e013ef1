"""Raw posts made ready: body, targets, entities, splits, statistics."""
