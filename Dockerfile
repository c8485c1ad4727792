# The relayer as a container that takes the place of the Go relayer's: settings in the environment, entry `start`.
#
#   docker build --build-arg COMMIT=$(git rev-parse HEAD) -t relaywatch .
#
# docs/from-neutron-query-relayer.md has the settings. `--entrypoint relaywatch` runs any other command.

FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No install script is needed: all binaries are parts of packages.
RUN npm ci --ignore-scripts
COPY . .
ARG COMMIT=""
RUN RELAYWATCH_COMMIT="$COMMIT" npm run -s build && npm prune --omit=dev --ignore-scripts

FROM node:20-bookworm-slim
ENV NODE_ENV=production
COPY --from=build /build/package.json /opt/relaywatch/
COPY --from=build /build/node_modules /opt/relaywatch/node_modules
COPY --from=build /build/config /opt/relaywatch/config
COPY --from=build /build/dist/build.json /opt/relaywatch/dist/
COPY --from=build /build/dist/program /opt/relaywatch/dist/program
COPY docker/run.sh /run.sh
COPY docker/healthcheck.mjs /opt/relaywatch/
RUN chmod 755 /run.sh /opt/relaywatch/dist/program/relaywatch.js /opt/relaywatch/dist/program/neutron_query_relayer.js \
  && ln -s /opt/relaywatch/dist/program/relaywatch.js /usr/local/bin/relaywatch \
  && ln -s /opt/relaywatch/dist/program/neutron_query_relayer.js /bin/neutron_query_relayer

# Writes to RELAYER_STORAGE_PATH only, so the root file system may be read-only.
USER node
WORKDIR /
EXPOSE 9999
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=2m --retries=3 CMD ["node", "/opt/relaywatch/healthcheck.mjs"]
ENTRYPOINT ["neutron_query_relayer", "start"]
