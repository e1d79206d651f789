-- Published figures are of more than time and memory: descriptions alone.

comment on column published.metric is 'time, peak_memory, accuracy, mse or expansion';
comment on column published.unit is 'Unit of value: s, bytes, share or ratio';
comment on column published_match.metric is 'time, peak_memory, accuracy, mse or expansion';
comment on column published_match.unit is 'Unit of both figures: s, bytes, share or ratio';
