import process from 'node:process'

import ivm from 'isolated-vm'
import { Piscina } from 'piscina'

/**
 * Entry of a process that is started once to see whether it can load what the others need, and runs as the user whose
 * number it is given, if any.
 */
const [uid] = process.argv.slice(2)
if (typeof ivm.Isolate !== 'function' || typeof Piscina !== 'function') {
  throw new Error('The packages of the sandbox are not what they should be')
}
if (uid !== undefined && process.getuid?.() !== Number(uid)) {
  throw new Error(`This is user ${process.getuid?.()}, not ${uid}`)
}
process.exit(0)
