/** `poses[3].position.x` of its steps: names, and indexes of elements. */
export function pathText(steps: readonly (string | number)[]): string {
  return steps.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}
