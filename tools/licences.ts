/** The part of package-lock.json that this reads. */
export interface Lock {
  packages: Record<
    string,
    { version?: string; license?: string; integrity?: string; inBundle?: boolean; dev?: boolean; devOptional?: boolean }
  >;
}

/** A package that an installation of the operator has. */
export interface Licensed {
  name: string;
  version: string;
  license: string;
}

const HEAD = `<!-- Generated from package-lock.json by \`npm run generate\`. Do not edit. -->

# Third-party software

What an installation has beside this project (Apache-2.0), by its lock file; each package brings the text of its licence in its own folder. The image also has Node.js
(MIT, with the licences of what it contains) and the Pulumi CLI (Apache-2.0).

| Package | Version | Licence |
| --- | --- | --- |
`;

/** Every package but those of development, by name and version. */
export function licensedPackages({ packages }: Lock): Licensed[] {
  const found = Object.entries(packages).flatMap(([path, { version = '', license = '', dev, devOptional }]) =>
    path === '' || dev === true || devOptional === true
      ? []
      : [{ name: path.slice(path.lastIndexOf('node_modules/') + 13), version, license }],
  );
  const lines = new Map(found.map((one) => [`${one.name} ${one.version}`, one]));
  return [...lines.keys()].sort().flatMap((key) => lines.get(key) ?? []);
}

/** The page THIRD_PARTY.md. */
export function thirdPartyPage(lock: Lock): string {
  return `${HEAD}${licensedPackages(lock)
    .map(({ name, version, license }) => `| ${name} | ${version} | ${license} |\n`)
    .join('')}`;
}
