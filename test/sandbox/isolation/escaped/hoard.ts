import process from 'node:process'

// Takes far more memory than it may have, in pieces that exist.
const pieces = Array.from({ length: 40 }, () => Buffer.alloc(16 * 1024 * 1024, 1))
process.stdout.write(`held ${pieces.length}`)
