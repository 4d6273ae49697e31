import type { PostKind } from './madeUpPosts.ts';
import type { Tool } from './messageIds.ts';
import type { SubjectStyle } from './subjectStyles.ts';

/** The groups of the sample; an article that goes to several has a number of its own in each. */
export const ISO = 'alt.binaries.linux.iso';
export const IMAGE = 'alt.binaries.cd.image.linux';
export const MISC = 'alt.binaries.misc';

/** How the payload is cut: rar volumes with new or old names, 7z volumes, or one file with this suffix. */
export type Form = 'rar' | 'oldRar' | '7z' | 'iso' | 'tar.xz' | 'pdf';

/** One made-up release of the bundled sample. */
export interface SampleRelease {
  readonly name: string;
  readonly form: Form;
  /** Size of the payload in millions of bytes. */
  readonly mb: number;
  readonly groups: readonly string[];
  readonly tool: Tool;
  readonly style: SubjectStyle;
  /** Recovery volumes; 0 = no par2 set. */
  readonly par2: number;
  readonly nfo: boolean;
  /** Default readable. */
  readonly kind?: PostKind;
  /** `parts`: one part in twelve is missing. `file`: a whole volume is missing. */
  readonly missing?: 'parts' | 'file';
  /** Obfuscated posts: each file has another name, instead of one name with suffixes. */
  readonly namesDiffer?: boolean;
}

type Row = readonly [name: string, form: Form, mb: number, groups: readonly string[], tool: Tool, style: SubjectStyle];

const complete = (...[name, form, mb, groups, tool, style]: Row): SampleRelease => {
  const whole = form === 'iso' || form === 'pdf' || form === 'tar.xz';
  return { name, form, mb, groups, tool, style, par2: whole ? 2 : 4, nfo: form !== 'pdf' };
};

/** Distributions, kernels and handbooks that do not exist, in the shape of those that do. */
const READABLE: readonly SampleRelease[] = [
  complete('meadow-linux-12.4-amd64-netinst', 'rar', 62, [ISO, IMAGE], 'nyuu', 'counted'),
  complete('meadow-linux-12.4-arm64-netinst', 'rar', 58, [ISO, IMAGE], 'nyuu', 'counted'),
  complete('meadow-linux-12.4-i386-netinst', 'oldRar', 55, [ISO], 'powerpost', 'titled'),
  complete('meadow-linux-12.4-amd64-live-desktop', 'rar', 118, [ISO, IMAGE, MISC], 'ngpost', 'counted'),
  complete('meadow-linux-12.4-handbook', 'pdf', 14, [MISC], 'nyuu', 'bare'),
  complete('meadow-linux-12.3-amd64-netinst', 'oldRar', 60, [IMAGE], 'powerpost', 'sized'),
  complete('harbor-os-2026.1-desktop-amd64', 'rar', 104, [ISO], 'nyuu', 'counted'),
  complete('harbor-os-2026.1-server-amd64', 'rar', 76, [ISO], 'nyuu', 'counted'),
  complete('harbor-os-2026.1-server-riscv64', '7z', 70, [ISO, MISC], 'postie', 'counted'),
  complete('harbor-os-2025.2-desktop-amd64', 'oldRar', 92, [IMAGE], 'camelsystem', 'titled'),
  complete('harbor-os-2026.1-release-notes', 'pdf', 6, [ISO], 'ngpost', 'counted'),
  complete('tundra-linux-9.0-x86_64-dvd', 'rar', 124, [ISO, IMAGE], 'ngpost', 'counted'),
  complete('tundra-linux-9.0-x86_64-boot', 'iso', 48, [ISO], 'powerpost', 'counted'),
  complete('tundra-linux-9.0-aarch64-boot', 'iso', 46, [ISO], 'powerpost', 'counted'),
  complete('tundra-linux-8.7-x86_64-minimal', 'rar', 66, [IMAGE, ISO], 'jbinup', 'titled'),
  complete('pebble-linux-3.20-x86_64-standard', 'iso', 38, [ISO], 'nyuu', 'counted'),
  complete('pebble-linux-3.20-armv7-uboot', 'tar.xz', 34, [MISC], 'nyuu', 'counted'),
  complete('pebble-linux-3.20-virt-x86_64', 'iso', 22, [ISO, MISC], 'ngpost', 'bare'),
  complete('larkspur-os-24.10-workstation', '7z', 88, [ISO], 'postie', 'counted'),
  complete('larkspur-os-24.10-kiosk', '7z', 52, [ISO], 'postie', 'counted'),
  complete('larkspur-os-24.04-workstation', 'rar', 84, [IMAGE], 'camelsystem', 'request'),
  complete('basalt-linux-current-2026-01-15', 'rar', 72, [MISC], 'ngpost', 'sized'),
  complete('basalt-linux-15.1-install-dvd', 'oldRar', 96, [IMAGE, ISO], 'powerpost', 'counted'),
  complete('copperleaf-linux-41-silver-x86_64', 'rar', 80, [ISO], 'nyuu', 'counted'),
  complete('copperleaf-linux-41-netboot', 'iso', 18, [ISO], 'nyuu', 'counted'),
  complete('driftwood-router-23.05.5-images', 'tar.xz', 28, [MISC], 'jbinup', 'counted'),
  complete('tern-kernel-6.19.2-source', 'tar.xz', 42, [MISC, ISO], 'ngpost', 'counted'),
  complete('tern-kernel-6.18.14-source', 'tar.xz', 41, [MISC], 'ngpost', 'counted'),
  complete('tern-kernel-6.18.14-modules-amd64', '7z', 36, [MISC], 'nyuu', 'counted'),
  complete('open-handbook-of-packet-filters-2nd-edition', 'pdf', 16, [MISC], 'powerpost', 'counted'),
  complete('rescue-lantern-11.2-amd64', 'iso', 56, [IMAGE, ISO], 'nyuu', 'titled'),
];

const incomplete = (missing: 'parts' | 'file', ...row: Row): SampleRelease => ({ ...complete(...row), missing });
const obfuscated = (namesDiffer: boolean, ...row: Row): SampleRelease => ({
  ...complete(...row),
  kind: 'obfuscated',
  nfo: false,
  namesDiffer,
});
const random = (...row: Row): SampleRelease => ({ ...complete(...row), kind: 'random', par2: 0, nfo: false });

const OTHERS: readonly SampleRelease[] = [
  incomplete('parts', 'tundra-linux-9.0-ppc64le-dvd', 'rar', 64, [ISO], 'nyuu', 'counted'),
  incomplete('parts', 'harbor-os-2025.2-server-amd64', 'oldRar', 58, [IMAGE], 'camelsystem', 'titled'),
  incomplete('file', 'basalt-linux-15.1-source-dvd', 'rar', 74, [IMAGE, MISC], 'powerpost', 'counted'),
  incomplete('file', 'larkspur-os-23.10-workstation', '7z', 60, [ISO], 'postie', 'counted'),
  obfuscated(false, 'copperleaf-linux-41-studio', 'rar', 60, [MISC], 'nyuu', 'counted'),
  obfuscated(true, 'meadow-linux-13-alpha-amd64', 'rar', 54, [MISC], 'ngpost', 'counted'),
  obfuscated(true, 'pebble-linux-3.21-rc1', 'rar', 44, [MISC, ISO], 'postie', 'bare'),
  random('driftwood-router-24-snapshot', '7z', 40, [MISC], 'postie', 'counted'),
  random('tern-kernel-7.0-rc1', 'tar.xz', 32, [MISC], 'ngpost', 'counted'),
];

/** In the order of posting; the same name at the end is a repost some weeks later, a release of its own. */
export const SAMPLE_RELEASES: readonly SampleRelease[] = [
  ...READABLE.flatMap((release, i) => {
    const other = i % 3 === 2 ? OTHERS[(i - 2) / 3] : undefined;
    return other === undefined ? [release] : [release, other];
  }),
  complete('meadow-linux-12.4-amd64-netinst', 'rar', 62, [ISO], 'ngpost', 'counted'),
];
