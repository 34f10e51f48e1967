import { median } from './median.ts'
import type { Sample } from './sample.ts'
import type { SubjectName } from './subject.ts'

export type Figure = 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUsPerRequest' | 'othersShare'

/** The samples of all rounds, by subject and number of connections. */
export class Measurements {
  readonly #samples = new Map<string, Sample[]>()

  add(subject: SubjectName, connections: number, sample: Sample): void {
    const key = `${subject} ${connections}`
    this.#samples.set(key, [...(this.#samples.get(key) ?? []), sample])
  }

  samples(subject: SubjectName, connections: number): readonly Sample[] {
    return this.#samples.get(`${subject} ${connections}`) ?? []
  }

  /** Median over the rounds; NaN for what was not measured. */
  figure(subject: SubjectName, connections: number, figure: Figure): number {
    return median(this.samples(subject, connections).map((sample) => sample[figure]))
  }

  /** Median over the rounds of what one was to the other in the same round: what moves both cancels out. */
  ratio(
    [subject, other]: readonly [SubjectName, SubjectName],
    connections: number,
    figure: Figure,
  ): number {
    const others = this.samples(other, connections)
    const ratios = this.samples(subject, connections).flatMap((sample, round) => {
      const against = others[round]?.[figure]
      return against === undefined ? [] : [sample[figure] / against]
    })
    return median(ratios)
  }
}
