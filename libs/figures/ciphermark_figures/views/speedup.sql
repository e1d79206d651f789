select *
from speedup
