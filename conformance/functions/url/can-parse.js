export default async () => {
  return [URL.canParse('x:y'), URL.canParse('/a'), URL.canParse('/a', 'http://b')]
}
