const FACTOR = 8
const TRIES = 7

/** Of the time that something takes: it grows with its input, and with a margin for what else the machine does not with its square, which were 64. */
export const LINEAR = 4 * FACTOR

/** How many times as long `work` takes for eight times the size. The shortest of several tries is the one that had to wait for nobody. */
export function growth(work: (size: number) => void, size: number): number {
  return shortestMs(work, size * FACTOR) / shortestMs(work, size)
}

function shortestMs(work: (size: number) => void, size: number): number {
  let shortest = Infinity
  for (let tries = 0; tries < TRIES; tries += 1) {
    const beganMs = performance.now()
    work(size)
    shortest = Math.min(shortest, performance.now() - beganMs)
  }
  return shortest
}
