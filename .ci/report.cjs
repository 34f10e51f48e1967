// Judges a run by the JSON reports of vitest in a folder, and prints its last line:
//   node .ci/report.cjs FOLDER BROKEN_STEPS STATUS [STATE_FOLDER]
// A file that failed and then passed alone is unsteady. One that was so before fails: `.ci/unsteady` lists those that are known,
// and the folder that CI keeps from run to run those of the run before.
const { existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const { join, relative } = require('node:path')

const [folder, brokenSteps, status, stateFolder] = process.argv.slice(2)
const remembered = stateFolder ? join(stateFolder, 'unsteady') : undefined

const say = (line) => process.stdout.write(`${line}\n`)

/** The first word of each line; what follows says since when, and what is known. */
const namesIn = (path) =>
  path === undefined || !existsSync(path)
    ? []
    : readFileSync(path, 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/)[0])
        .filter((name) => name !== '' && !name.startsWith('#'))

const filesOf = (name) => {
  const path = join(folder, `${name}.json`)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).testResults : []
}

const known = new Set([...namesIn(join('.ci', 'unsteady')), ...namesIn(remembered)])
const again = new Map(filesOf('again').map((file) => [file.name, file]))
const first = [...filesOf('check'), ...filesOf('test')]
let [passed, failed] = [0, 0]
for (const file of first.map((file) => again.get(file.name) ?? file)) {
  const count = (outcome) => file.assertionResults.filter((test) => test.status === outcome).length
  passed += count('passed')
  // A file that does not load has no tests.
  failed += count('failed') || Number(file.status === 'failed')
}

const unsteady = first.filter((file) => again.get(file.name)?.status === 'passed')
for (const { name, assertionResults } of unsteady) {
  const path = relative('.', name)
  const isKnown = known.has(path)
  say(
    isKnown
      ? `UNSTEADY AGAIN: ${path} needed a second look before: mend it`
      : `UNSTEADY: failed, then passed alone: ${path}; mend it, or add it to .ci/unsteady with what is known`,
  )
  for (const test of assertionResults) if (test.status === 'failed') say(`  ${test.fullName}`)
  if (isKnown) failed += 1
}
for (const { name, status: outcome } of first) {
  const path = relative('.', name)
  if (outcome === 'passed' && known.has(path)) say(`STEADY THIS TIME: ${path}`)
}
if (remembered !== undefined) {
  mkdirSync(stateFolder, { recursive: true })
  writeFileSync(remembered, unsteady.map(({ name }) => `${relative('.', name)}\n`).join(''))
}

// A step that broke without a failed test (types, format) is a failure too.
if (failed === 0) failed = Number(brokenSteps) || (status === '0' ? 0 : 1)
say(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
