/** Packages with native code, prebuilt for each platform in a package of its own. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * What the package exports; `null` where it was not built for this platform, or addons are not allowed. Where it is known which
 * of its packages is the one, that is loaded directly: the loaders that they come with ask for a process report to tell musl
 * from glibc, or try one file after the other, and take 4 to 5 ms for it.
 */
export function loadAddon(name: string): unknown {
  const require = createRequire(import.meta.url);
  const { platform, arch } = process;
  try {
    if (platform === 'linux' && !['x86_64', 'aarch64'].some((cpu) => existsSync(`/lib/ld-musl-${cpu}.so.1`))) {
      return createRequire(require.resolve(name))(`${name}-linux-${arch}-gnu`);
    }
    return require(name);
  } catch {
    return null;
  }
}
