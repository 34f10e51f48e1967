import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { buildDist } from './build-dist.ts'

const root = resolve(import.meta.dirname, '..')
const outDir = join(root, 'dist')
await rm(outDir, { recursive: true, force: true })
await buildDist(root, outDir)
console.log(`built ${outDir}`)
