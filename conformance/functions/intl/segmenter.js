export default async () => {
  return [...new Intl.Segmenter('en', { granularity: 'word' }).segment('a bc')].map(
    (s) => s.segment,
  )
}
