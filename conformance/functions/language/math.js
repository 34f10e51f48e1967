export default async () => {
  return [Math.hypot(3, 4), Math.clz32(1), Math.sign(-3), Math.trunc(-4.7), Math.fround(5.5)]
}
