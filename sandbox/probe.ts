import process from 'node:process'

import ivm from 'isolated-vm'
import { Piscina } from 'piscina'

/** Entry of a process that is started once to see whether it can load what the others need. */
const isLoaded = typeof ivm.Isolate === 'function' && typeof Piscina === 'function'
process.exit(isLoaded ? 0 : 1)
