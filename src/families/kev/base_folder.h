// Where the parts of a Kev checkpoint are: what a folder holds, and where the base model is that an
// adapter was trained on (spec kev 1.2). Only looks at names on the disk; the environment is handed
// in.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "families/kev/head_file.h"

namespace assay::families::kev {

// adapter_config.json: an adapter, whatever else is there. Otherwise config.json and
// model*.safetensors: full weights. Neither: Error(kModel).
WeightsKind KindOfFolder(const std::filesystem::path& folder);

// The environment variables that say where the Hugging Face cache is; empty counts as absent.
struct CacheEnvironment {
  std::string hf_hub_cache;           // HF_HUB_CACHE
  std::string huggingface_hub_cache;  // HUGGINGFACE_HUB_CACHE, its older name
  std::string hf_home;                // HF_HOME
  std::string xdg_cache_home;         // XDG_CACHE_HOME
  std::string home;                   // HOME
};

// The folder of repositories, by the rules of huggingface_hub: the first of HF_HUB_CACHE,
// HUGGINGFACE_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub that
// is set; a "~" in front is the home folder. Nothing when none is.
struct HubCache {
  std::filesystem::path path;
  std::string shown;  // "HF_HOME/hub": for messages, which name no folder of this machine
};
std::optional<HubCache> FindHubCache(const CacheEnvironment& environment);

// The folder with the base's config.json. With `chosen` (--base), that one or an error. Otherwise
// the first of KEV/base, KEV/../base and the snapshot of head.base at head.base_revision (absent:
// main) in the Hugging Face cache. Throws Error(kModel) with everything that was tried and why it
// was not taken.
std::filesystem::path FindBaseFolder(const std::filesystem::path& kev_folder, const HeadFile& head,
                                     const std::optional<std::filesystem::path>& chosen,
                                     const CacheEnvironment& environment);

}  // namespace assay::families::kev
