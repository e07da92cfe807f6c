import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // The Content-Security-Policy forbids inline scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // One file for what several screens share: a request costs more than the bytes that a screen does not use.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } } },
    // The bundled packages, for the notices of the package that serves them.
    license: { fileName: '.vite/license.json' },
  },
  server: {
    // `npm run -w @svc/dashboard dev` shows a running daemon, which must see its own host in the request.
    proxy: { '/api': { target: 'http://127.0.0.1:7400', changeOrigin: true } },
  },
});
