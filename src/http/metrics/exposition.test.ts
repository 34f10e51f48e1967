import { describe, expect, test } from 'vitest'

import { DurationHistogram } from '#base/duration-histogram.ts'

import { exposition } from './exposition.ts'
import { type Metric, gauge, lasting, tallied } from './metric.ts'

const metric = (name: string, read: Metric<null>['read']): Metric<null> => ({
  name,
  type: 'gauge',
  help: 'A "help"\nwith a \\',
  labels: [],
  read,
})

describe('the exposition', () => {
  test('writes values with their labels, escaped', () => {
    const odd = metric('odd', () => [
      ...tallied('a', [['x"y\\\n', 1.5]], { b: 'z' }),
      gauge(Number.NaN),
      gauge(-Infinity),
    ])
    const told = exposition([odd], null, () => {})
    expect(told).toBe(
      [
        String.raw`# HELP odd A "help"\nwith a \\`,
        '# TYPE odd gauge',
        String.raw`odd{b="z",a="x\"y\\\n"} 1.5`,
        'odd NaN',
        'odd -Inf',
        '',
      ].join('\n'),
    )
  })

  test('writes durations as cumulative buckets in seconds', () => {
    const histogram = new DurationHistogram()
    histogram.observe(3)
    histogram.observe(100_000)
    const told = exposition(
      [{ ...metric('time', () => [lasting(histogram, { of: 'a' })]), type: 'histogram' }],
      null,
      () => {},
    )
    expect(told).toContain('# TYPE time histogram\n')
    expect(told).toContain('time_bucket{of="a",le="0.0025"} 0\n')
    expect(told).toContain('time_bucket{of="a",le="0.005"} 1\n')
    expect(told).toContain('time_bucket{of="a",le="60"} 1\ntime_bucket{of="a",le="+Inf"} 2\n')
    expect(told).toContain('time_sum{of="a"} 100.003\ntime_count{of="a"} 2\n')
  })

  test('leaves out what cannot be read and what there is none of, and tells the rest', () => {
    const failures: unknown[] = []
    const broken = metric('broken', () => {
      throw new Error('no')
    })
    const none = metric('none', () => [])
    const told = exposition(
      [broken, none, metric('whole', () => [gauge(1)])],
      null,
      (name, error) => failures.push(name, error),
    )
    expect(told.match(/^\w+/gm)).toEqual(['whole'])
    expect(told).not.toContain('none')
    expect(failures).toEqual(['broken', new Error('no')])
  })
})
