import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { buildDist } from './build-dist.ts'

const { values } = parseArgs({ options: { out: { type: 'string' } } })
const root = resolve(import.meta.dirname, '..')
const dist = join(root, 'dist')
if (values.out === undefined) await rm(dist, { recursive: true, force: true })
const outDir = values.out === undefined ? dist : resolve(values.out)
await buildDist(root, outDir)
console.log(`built ${outDir}`)
