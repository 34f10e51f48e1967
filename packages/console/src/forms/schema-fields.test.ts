import { describe, expect, test } from 'vitest'

import { bodyOf, fieldsOf, labelOf, valuesOf } from './schema-fields.ts'

const DOCUMENT = {
  components: {
    schemas: {
      Schedule: {
        type: 'object',
        required: ['cron'],
        properties: { cron: { type: 'string' }, timezone: { type: 'string' } },
      },
    },
  },
}
const SCHEMA = {
  type: 'object',
  required: ['name', 'mode', 'enabled'],
  properties: {
    name: { type: 'string', maxLength: 64, pattern: '^[a-z]+$', description: 'What it is called.' },
    mode: { type: 'string', enum: ['PUBLIC', 'ADMIN'] },
    enabled: { type: 'boolean' },
    quotaBytes: { anyOf: [{ type: 'integer', minimum: 0, maximum: 100 }, { type: 'null' }] },
    ratio: { type: 'number' },
    targets: { type: 'array', items: { type: 'string' } },
    schedule: { $ref: '#/components/schemas/Schedule' },
    payload: {},
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
}
const FIELDS = fieldsOf(SCHEMA, DOCUMENT)
const base = (name: string, label: string) => ({
  name,
  label,
  hint: undefined,
  isRequired: false,
  isNullable: false,
})

describe('a schema', () => {
  test('is a field for each property', () => {
    expect(FIELDS).toEqual([
      {
        ...base('name', 'Name'),
        hint: 'What it is called.',
        isRequired: true,
        kind: 'text',
        maxLength: 64,
        pattern: '^[a-z]+$',
      },
      { ...base('mode', 'Mode'), isRequired: true, kind: 'choice', choices: ['PUBLIC', 'ADMIN'] },
      { ...base('enabled', 'Enabled'), isRequired: true, kind: 'boolean' },
      {
        ...base('quotaBytes', 'Quota bytes'),
        isNullable: true,
        kind: 'number',
        step: 1,
        min: 0,
        max: 100,
      },
      { ...base('ratio', 'Ratio'), kind: 'number', step: 'any' },
      { ...base('targets', 'Targets'), kind: 'lines' },
      {
        ...base('schedule', 'Schedule'),
        kind: 'group',
        fields: [
          { ...base('schedule.cron', 'Cron'), isRequired: true, kind: 'text' },
          { ...base('schedule.timezone', 'Timezone'), kind: 'text' },
        ],
      },
      { ...base('payload', 'Payload'), kind: 'json' },
      { ...base('either', 'Either'), kind: 'json' },
    ])
  })

  test('shows a body and sends the same body', () => {
    const body = {
      name: 'nightly',
      mode: 'ADMIN',
      enabled: false,
      quotaBytes: null,
      ratio: 0.5,
      targets: ['a@b.test', 'c@d.test'],
      schedule: { cron: '* * * * *' },
      payload: { deep: [1, null] },
      either: 7,
    }
    const values = valuesOf(FIELDS, body)
    expect(values).toMatchObject({
      quotaBytes: '',
      targets: 'a@b.test\nc@d.test',
      'schedule.cron': '* * * * *',
    })
    expect(bodyOf(FIELDS, values)).toEqual(body)
  })

  test('leaves out what is empty and optional, and sends null where that is allowed', () => {
    const values = { ...valuesOf(FIELDS, {}), name: 'x', mode: 'PUBLIC' }
    const schedule = { cron: '' }
    expect(bodyOf(FIELDS, values)).toEqual({
      name: 'x',
      mode: 'PUBLIC',
      enabled: false,
      quotaBytes: null,
      targets: [],
      schedule,
    })
  })

  test('takes lines without the empty ones', () => {
    const values = { ...valuesOf(FIELDS, {}), targets: ' a \n\n b\n' }
    expect(bodyOf(FIELDS, values)['targets']).toEqual(['a', 'b'])
  })
})

test.each([
  ['trashRetentionDays', 'Trash retention days'],
  ['keep_copy', 'Keep copy'],
  ['url', 'Url'],
])('the label of %s is %s', (property, label) => {
  expect(labelOf(property)).toBe(label)
})
