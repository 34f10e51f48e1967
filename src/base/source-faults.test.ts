import { describe, expect, test } from 'vitest'

import { sourceFaults } from './source-faults.ts'

const FAULT = {
  function: 'greet',
  file: 'greet.ts',
  line: 2,
  column: 7,
  message: 'no',
  frame: '> 2 | x',
}

describe('the faults that a refusal names', () => {
  test('are shown with place and frame', () => {
    expect(sourceFaults({ code: 'InvalidCode', faults: [FAULT] })).toEqual([
      '\ngreet.ts:2:7  function "greet"\n  no\n  > 2 | x',
    ])
  })

  test('may have no place', () => {
    const nowhere = { ...FAULT, file: null, line: null, column: null, frame: null }
    expect(sourceFaults({ faults: [nowhere] })).toEqual(['\ninline code  function "greet"\n  no'])
  })

  test.each([[undefined], [{}], [{ faults: 1 }], [{ faults: [{ message: 'x' }] }]])(
    'are none in %j',
    (error) => {
      expect(sourceFaults(error)).toEqual([])
    },
  )
})
