select *, 'depth' as experiment
from depths
