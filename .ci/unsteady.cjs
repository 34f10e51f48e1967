// `.ci/unsteady`: test files that needed a second look. It is tracked, since a run on a clean clone knows nothing else of the runs before.
const { appendFileSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const LIST = join('.ci', 'unsteady')

/** The lines, without remarks. Throws when the file is missing: otherwise every error would be excused again. */
exports.listed = () =>
  readFileSync(LIST, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))

exports.pathOf = (line) => line.split(' ')[0]

/** A path, the day, and the tests that failed. */
exports.lineFor = (path, day, tests) => `${path} ${day} ${tests.join('; ')}`

exports.add = (line) => appendFileSync(LIST, `${line}\n`)
