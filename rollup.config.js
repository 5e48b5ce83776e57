/**
 * The package as few files in place of 180 modules: an import takes 20 ms in place of 60. What tsc has compiled is taken from
 * `build/package`; the packages it depends on stay outside.
 */
export default {
  input: {
    index: 'build/package/index.js',
    'cli/main': 'build/package/cli/main.js',
    // Beside the chunk that starts it, which names it by its URL.
    'compression-worker': 'build/package/mcap/compression-worker.js',
  },
  external: (id) => !/^[./]/.test(id),
  output: {
    dir: 'dist',
    chunkFileNames: '[name].js',
    // What a compression thread needs, and the rest of the package. Each verb of the command stays by itself.
    manualChunks: (id) => {
      if (/\/mcap\/(addon|byte-queue|compression|compressors|crc|lazy|zstd-frame)\.js$/.test(id)) return 'compression';
      return /\/cli\/|compression-worker/.test(id) ? undefined : 'package';
    },
  },
};
