// Prints which of the test files that failed are worth a second look, alone: those not listed in `.ci/unsteady`, if few failed.
//   node .ci/second-look.cjs VITEST_REPORT MOST
const { readFileSync } = require('node:fs')
const { relative } = require('node:path')

const { listed, pathOf } = require('./unsteady.cjs')

const [report, most] = process.argv.slice(2)
const hadOne = new Set(listed().map(pathOf))
const failed = JSON.parse(readFileSync(report, 'utf8'))
  .testResults.filter(({ status }) => status === 'failed')
  .map(({ name }) => relative('.', name))
if (failed.length <= Number(most)) {
  for (const path of failed) if (!hadOne.has(path)) process.stdout.write(`${path}\n`)
}
