import { resolve } from 'node:path'

import { refusedWordsUnder } from './structure/plain-words.ts'
import { productModules } from './structure/product-modules.ts'
import {
  sharedExports,
  featureCycles,
  featureImports,
  featureOf,
  sqlOutsideQueries,
} from './structure/rules.ts'
import { vacuousAssertionsUnder } from './structure/vacuous-assertions.ts'

/** Checks what oxlint cannot see, since it reads one file at a time. Exits with 1 where a rule is broken. */
const root = resolve(import.meta.dirname, '..')
const modules = await productModules(root)
const faults = [
  ...[...sharedExports(modules)].map(
    ([name, paths]) =>
      `"${name}" is exported by several layers, in ${paths.join(' and ')}: rename all but one`,
  ),
  ...featureCycles(modules).map((features) => {
    const within = featureImports(modules).filter(({ from, to }) =>
      [from, to].every((path) => features.includes(featureOf(path) ?? '')),
    )
    const list = within.map(({ from, to }) => `  ${from} imports ${to}`).join('\n')
    return `${features.join(', ')} import each other: move what is shared below them, or let the consumer declare an interface\n${list}`
  }),
  ...sqlOutsideQueries(modules).map(
    (place) => `${place} has SQL: move it to queries.ts or to a file named *-queries.ts`,
  ),
]
faults.push(
  ...(await vacuousAssertionsUnder(root)).map(
    (place) => `${place} passes unless all of it is wrong: name what must not be there, one by one`,
  ),
)
faults.push(...(await refusedWordsUnder(root)))
for (const fault of faults) console.error(fault)
console.log(`${modules.length} files, ${faults.length} faults of structure`)
if (faults.length > 0) process.exitCode = 1
