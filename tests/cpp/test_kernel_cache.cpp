// Tests the on-disk cache of compiled kernels: SHA-256 against published vectors, rejection of folders and files that
// others own or can write, and detection of damaged files.
#include "../../src/cpp/backend/run_time_compilation/kernel_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../../src/cpp/backend/run_time_compilation/sha256.h"
#include "check.h"

using namespace lbm::run_time;
namespace fs = std::filesystem;

namespace {

/// A folder of the test's own, and a cache in one below it that is not there yet.
struct TestFolder {
    fs::path root;
    std::string folder;
    KernelCache cache;

    TestFolder() : TestFolder(fs::temp_directory_path() / "lbm-cache-XXXXXX") {}
    explicit TestFolder(std::string pattern) : root(mkdtemp(pattern.data())), folder(root / "a" / "b"), cache(folder) {}
    ~TestFolder() { fs::remove_all(root); }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    fs::path file() const { return fs::path(folder) / (sha256("key") + ".kernel"); }
};

unsigned mode_of(const fs::path& path) { return unsigned(fs::status(path).permissions()); }

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

const KernelImage image{std::string("code\nof \0 bytes", 15), "_Zsymbol"};

bool finds_image(const KernelCache& cache, const std::string& key = "key") {
    const auto found = cache.find(key);
    return found && found->code == image.code && found->symbol == image.symbol;
}

}  // namespace

TEST(kernel_cache_digest_is_sha256) {
    // FIPS 180-4's examples, and the vectors of NIST's CAVP with 0, 1, 55, 56 and 64 bytes of padding at stake.
    CHECK_EQUAL(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_EQUAL(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_EQUAL(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK_EQUAL(sha256("\xbd"), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
    CHECK_EQUAL(sha256(std::string(55, '\0')), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
    CHECK_EQUAL(sha256(std::string(56, '\0')), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
    CHECK_EQUAL(sha256(std::string(64, '\0')), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
    CHECK_EQUAL(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(kernel_cache_keeps_what_it_was_given_for_its_user_only) {
    const TestFolder place;
    CHECK(!place.cache.find("key"));
    const mode_t before = umask(0);
    place.cache.keep("key", image);
    umask(before);
    CHECK(finds_image(place.cache));
    CHECK(!place.cache.find("other"));
    CHECK_EQUAL(mode_of(place.folder), 0700U);
    CHECK_EQUAL(mode_of(place.root / "a"), 0700U);
    CHECK_EQUAL(mode_of(place.file()), 0600U);
    CHECK_EQUAL(std::distance(fs::directory_iterator(place.folder), {}), 1);
    CHECK_EQUAL(place.cache.refusal(), "");
}

TEST(kernel_cache_refuses_a_folder_that_others_can_write) {
    const TestFolder place;
    place.cache.keep("key", image);
    for (const unsigned bits : {0020U, 0002U}) {
        fs::permissions(place.folder, fs::perms(0700 | bits));
        CHECK(!place.cache.find("key"));
        place.cache.keep("other", image);
        CHECK(place.cache.refusal().find("can be written by others") != std::string::npos);
        CHECK_EQUAL(std::distance(fs::directory_iterator(place.folder), {}), 1);
    }
    fs::permissions(place.folder, fs::perms(0755));
    CHECK(finds_image(place.cache));
}

TEST(kernel_cache_passes_over_files_that_may_be_somebody_elses) {
    const TestFolder place;
    place.cache.keep("key", image);
    const std::string whole = content_of(place.file());
    fs::permissions(place.file(), fs::perms(0620));
    CHECK(!place.cache.find("key"));
    fs::permissions(place.file(), fs::perms(0600));

    const fs::path elsewhere = place.root / "elsewhere";
    fs::rename(place.file(), elsewhere);
    fs::create_symlink(elsewhere, place.file());
    CHECK(!place.cache.find("key"));
    place.cache.keep("key", image);  // takes the link's place and leaves alone what it leads to
    CHECK(finds_image(place.cache));
    CHECK(!fs::is_symlink(place.file()));
    CHECK_EQUAL(content_of(elsewhere), whole);

    fs::remove(place.file());
    CHECK_EQUAL(mkfifo(place.file().c_str(), 0600), 0);
    CHECK(!place.cache.find("key"));  // and does not wait for a writer
    fs::remove(place.file());
    fs::create_directory(place.file());
    CHECK(!place.cache.find("key"));
}

TEST(kernel_cache_refuses_what_belongs_to_another_user) {
    if (geteuid() != 0) {
        return;  // only root gives files away
    }
    const TestFolder place;
    place.cache.keep("key", image);
    CHECK_EQUAL(chown(place.file().c_str(), 65534, 65534), 0);
    CHECK(!place.cache.find("key"));
    CHECK_EQUAL(chown(place.file().c_str(), 0, 0), 0);
    CHECK(finds_image(place.cache));
    CHECK_EQUAL(chown(place.folder.c_str(), 65534, 65534), 0);
    CHECK(!place.cache.find("key"));
    CHECK(place.cache.refusal().find("belongs to user 65534") != std::string::npos);
}

TEST(kernel_cache_finds_every_damage) {
    const TestFolder place;
    place.cache.keep("key", image);
    const std::string whole = content_of(place.file());
    const auto put = [&](const std::string& text) {
        std::ofstream(place.file(), std::ios::binary) << text;
        fs::permissions(place.file(), fs::perms(0600));
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = char(damaged[at] ^ 1);
        put(damaged);
        CHECK(!place.cache.find("key"));
        put(whole.substr(0, at));
        CHECK(!place.cache.find("key"));
    }
    put(whole + "x");
    CHECK(!place.cache.find("key"));
    put(whole);
    CHECK(finds_image(place.cache));
    fs::copy(place.file(), fs::path(place.folder) / (sha256("other") + ".kernel"));
    CHECK(!place.cache.find("other"));  // one kernel does not pass for another
}
