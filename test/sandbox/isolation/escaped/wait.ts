import { setInterval } from 'node:timers'

// Does nothing, and does not end.
setInterval(() => {}, 60_000)
