select *, median as peak_bytes
from results
where metric = 'peak_memory'
